<%@ WebService Class="Values.encoded.Encoded" %>
