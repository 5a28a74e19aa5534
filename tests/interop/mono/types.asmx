<%@ WebService Class="Values.types.Types" %>
