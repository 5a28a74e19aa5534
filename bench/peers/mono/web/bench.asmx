<%@ WebService Class="SuiteService" %>
