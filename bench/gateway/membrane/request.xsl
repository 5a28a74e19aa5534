<?xml version="1.0" encoding="UTF-8"?>
<!-- From JSON, as Membrane writes it in XML, to the request. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:S="http://schemas.xmlsoap.org/soap/envelope/"
    xmlns:b="urn:bench">
  <xsl:template match="/">
    <S:Envelope>
      <S:Body>
        <b:echoDoubles>
          <xsl:for-each select="//body/root/item/item">
            <item><xsl:value-of select="."/></item>
          </xsl:for-each>
        </b:echoDoubles>
      </S:Body>
    </S:Envelope>
  </xsl:template>
</xsl:stylesheet>
