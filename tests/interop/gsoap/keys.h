// Code shared by client and server of the services that require WS-Security: keys, and how messages are signed and encrypted.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "plugin/wsseapi.h"
#include "soapH.h"

namespace {

const char *USER = "ada";
const char *PASSWORD = "analytical & <engine>";

// Folder of the keys.
std::string folder;

// Reads a PEM file, or ends the program.
template <class T>
T *read(const std::string &name, T *(*parse)(FILE *, T **, pem_password_cb *, void *)) {
  auto *file = std::fopen((folder + "/" + name).c_str(), "r");
  auto *found = file ? parse(file, nullptr, nullptr, nullptr) : nullptr;
  if (file) std::fclose(file);
  if (!found) std::fprintf(stderr, "%s cannot be read\n", name.c_str()), std::exit(1);
  return found;
}

// A private key with its certificate. These live as long as the program.
struct Identity {
  explicit Identity(const std::string &name)
      : key(read<EVP_PKEY>(name + ".key", PEM_read_PrivateKey)), certificate(read<X509>(name + ".pem", PEM_read_X509)) {}

  EVP_PKEY *key;
  X509 *certificate;
};

// Prepares a context; signatures of peers of the authority are valid.
void use_security(struct soap *soap) {
  static const std::string authority = folder + "/authority.pem";
  soap_register_plugin(soap, soap_wsse);
  soap_set_omode(soap, SOAP_XML_CANONICAL);
  soap->cafile = authority.c_str();
}

// Adds a timestamp and a signature of it, the body and the tokens to the next message.
int sign(struct soap *soap, const Identity &own) {
  return soap_wsse_add_Timestamp(soap, "Time", 300) ||
         soap_wsse_add_BinarySecurityTokenX509(soap, "Token", own.certificate) ||
         soap_wsse_add_KeyInfo_SecurityTokenReferenceX509(soap, "#Token") ||
         soap_wsse_sign_body(soap, SOAP_SMD_SIGN_RSA_SHA256, own.key, 0);
}

// Encrypts the body of the next message.
int encrypt(struct soap *soap, X509 *recipient) {
  const int algorithm = SOAP_MEC_ENV_ENC_AES256_GCM | SOAP_MEC_OAEP;
  return soap_wsse_add_EncryptedKey(soap, algorithm, "Key", recipient, nullptr, nullptr, nullptr);
}

// Verifies the signature of the next message, and decrypts it.
int verify(struct soap *soap, const Identity &own) {
  return soap_wsse_verify_auto(soap, SOAP_SMD_NONE, nullptr, 0) ||
         soap_wsse_decrypt_auto(soap, SOAP_MEC_ENV_DEC_AES256_GCM, own.key, 0);
}

// Fails unless body and timestamp of the received message were signed, and it is not too old.
int check_signed(struct soap *soap) {
  if (soap_wsse_verify_body(soap) || soap_wsse_verify_Timestamp(soap)) return soap->error;
  if (soap_wsse_verify_element(soap, SOAP_NAMESPACE_OF_wsu, "Timestamp") == 1) return SOAP_OK;
  return soap_wsse_sender_fault(soap, "no signed timestamp", nullptr);
}

// Returns the subject of the certificate that a message was signed with, such as CN=client.
std::string signer(struct soap *soap) {
  auto *certificate = soap_wsse_get_KeyInfo_SecurityTokenReferenceX509(soap);
  if (!certificate) return "";
  char name[256];
  X509_NAME_oneline(X509_get_subject_name(certificate), name, sizeof name);
  X509_free(certificate);
  return name + 1;
}

}  // namespace
