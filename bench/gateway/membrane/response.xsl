<?xml version="1.0" encoding="UTF-8"?>
<!-- From the response to JSON. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="text"/>
  <xsl:template match="/">
    <xsl:text>{"item":[</xsl:text>
    <xsl:for-each select="//item">
      <xsl:if test="position() > 1">,</xsl:if>
      <xsl:value-of select="."/>
    </xsl:for-each>
    <xsl:text>]}</xsl:text>
  </xsl:template>
</xsl:stylesheet>
