// Code shared by client and server of the services that require WS-Security: keys, and how messages
// are signed and encrypted.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "plugin/wsseapi.h"
#include "soapH.h"

namespace {

const char *USER = "ada";
const char *PASSWORD = "pass & word";

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

// Encrypts or decrypts a key with RSA-OAEP, with SHA-1; empty if that fails. `begin` and `run` are
// functions of OpenSSL.
template <class Begin, class Run>
std::string with_oaep(EVP_PKEY *key, Begin begin, Run run, const unsigned char *data, size_t len) {
  std::string out(EVP_PKEY_size(key), '\0');
  size_t out_len = out.size();
  auto *context = EVP_PKEY_CTX_new(key, nullptr);
  const bool is_done = begin(context) > 0 && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) > 0 &&
                       run(context, reinterpret_cast<unsigned char *>(&out[0]), &out_len, data, len) > 0;
  EVP_PKEY_CTX_free(context);
  return is_done ? out.substr(0, out_len) : "";
}

// Encrypts the body of the next message. The plugin names RSA-OAEP, but uses PKCS #1 v1.5, which
// our side refuses: so the key is encrypted again.
int encrypt(struct soap *soap, X509 *recipient) {
  const int algorithm = SOAP_MEC_ENV_ENC_AES256_GCM | SOAP_MEC_OAEP;
  if (soap_wsse_add_EncryptedKey(soap, algorithm, "Key", recipient, nullptr, nullptr, nullptr)) return soap->error;
  const auto *plugin = static_cast<soap_wsse_data *>(soap_lookup_plugin(soap, soap_wsse_id));
  const auto key = with_oaep(X509_get0_pubkey(recipient), EVP_PKEY_encrypt_init, EVP_PKEY_encrypt, plugin->mec->ekey, 32);
  const auto *bytes = reinterpret_cast<const unsigned char *>(key.data());
  auto *value = soap_s2base64(soap, bytes, nullptr, static_cast<int>(key.size()));
  soap_wsse_EncryptedKey(soap)->CipherData->CipherValue = value;
  return value ? SOAP_OK : soap->error = SOAP_EOM;
}

EVP_PKEY *decrypting;

// Returns the key of a message that is being decrypted, for the same reason.
const void *find_key(struct soap *soap, int *algorithm, const char *, const unsigned char *, int, int *len) {
  const auto *encrypted = soap_wsse_EncryptedKey(soap);
  if (*algorithm != SOAP_MEC_DEC_AES256_GCM || !encrypted || !encrypted->CipherData) return nullptr;
  int value_len = 0;
  const auto *value = soap_base642s(soap, encrypted->CipherData->CipherValue, nullptr, 0, &value_len);
  const auto *bytes = reinterpret_cast<const unsigned char *>(value);
  const auto key = with_oaep(decrypting, EVP_PKEY_decrypt_init, EVP_PKEY_decrypt, bytes, value_len);
  if (!value || key.size() != 32) return nullptr;
  *len = 32;
  return std::memcpy(soap_malloc(soap, key.size()), key.data(), key.size());
}

// Verifies the signature of the next message, and decrypts it.
int verify(struct soap *soap, const Identity &own) {
  decrypting = own.key;
  soap_wsse_set_security_token_handler(soap, find_key);
  return soap_wsse_verify_auto(soap, SOAP_SMD_NONE, nullptr, 0) ||
         soap_wsse_decrypt_auto(soap, SOAP_MEC_NONE, nullptr, 0);
}

// Fails unless body and timestamp of the received message were signed, and it is not too old.
// soap_wsse_verify_body finds no body in a server that has both versions of SOAP: it looks for the
// namespace of the message, and the plugin's tree has that of the table.
int check_signed(struct soap *soap) {
  const bool is_signed = soap_wsse_verify_element(soap, soap->local_namespaces[0].ns, "Body") == 1 &&
                         soap_wsse_verify_element(soap, SOAP_NAMESPACE_OF_wsu, "Timestamp") == 1;
  if (!is_signed) return soap_wsse_sender_fault(soap, "body and timestamp must be signed", nullptr);
  return soap_wsse_verify_Timestamp(soap);
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
