#include "runtime/io/remote/store_address.h"

#include <cstdlib>
#include <string_view>

#include "lang/diagnostic.h"
#include "runtime/io/os_error.h"

namespace gasell::remote {
namespace {

/// How long a store of Google's is asked again after failures; its library asks for 15 minutes.
constexpr const char* kRetrySeconds = "20";

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// "http" and "localhost:9000" of "http://localhost:9000".
std::pair<std::string, std::string> endpoint_parts(const std::string& endpoint, const char* usual_scheme) {
  const size_t end = endpoint.find("://");
  std::string scheme = end == endpoint.npos ? usual_scheme : endpoint.substr(0, end);
  std::string host = end == endpoint.npos ? endpoint : endpoint.substr(end + 3);
  while (host.ends_with('/')) host.pop_back();
  return {std::move(scheme), std::move(host)};
}

/// The options, taken out one by one; what is left is not known.
class Taken {
 public:
  Taken(std::string scheme, const StorageOptions& options) : scheme_(std::move(scheme)), left_(options) {}
  /// The first of these names that is given, or "".
  std::string take(std::initializer_list<const char*> names) {
    std::string value;
    for (const char* name : names)
      if (const auto found = left_.find(name); found != left_.end()) {
        if (value.empty()) value = found->second;
        left_.erase(found);
      }
    return value;
  }
  bool take_truth(const char* name) { return take({name}) == "True"; }
  void refuse_others(const char* hint) const {
    if (left_.empty()) return;
    throw Error("NotImplementedError", "storage_options[" + in_quotes(left_.begin()->first) + "] of " + scheme_ + ":// is not in Gasell",
                hint, Blame::limitation);
  }

 private:
  std::string scheme_;
  StorageOptions left_;
};

/// A query of a URI that grows.
class Query {
 public:
  void add(const char* name, const std::string& value) {
    if (value.empty()) return;
    text_ += text_.empty() ? '?' : '&';
    text_ += std::string(name) + "=" + percent_encoded(value, false);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

StoreAddress s3_address(const std::string& rest, Taken given) {
  StoreAddress result;
  Query query;
  const bool anonymous = given.take_truth("anon");
  const std::string key = given.take({"key", "username", "client_kwargs.aws_access_key_id"});
  const std::string secret = given.take({"secret", "password", "client_kwargs.aws_secret_access_key"});
  const std::string token = given.take({"token", "client_kwargs.aws_session_token"});
  const std::string endpoint = given.take({"endpoint_url", "client_kwargs.endpoint_url"});
  const std::string region = given.take({"region", "client_kwargs.region_name"});
  const std::string plain = given.take({"use_ssl"});
  given.refuse_others("key, secret, token, anon, endpoint_url, use_ssl and client_kwargs' region_name are there; profiles by AWS_PROFILE");
  if (!key.empty()) result.settings.emplace_back("access_key", key);
  if (!secret.empty()) result.settings.emplace_back("secret_key", secret);
  if (!token.empty()) result.settings.emplace_back("session_token", token);
  if (!endpoint.empty()) {
    const auto [scheme, host] = endpoint_parts(endpoint, plain == "False" ? "http" : "https");
    query.add("scheme", scheme);
    query.add("endpoint_override", host);
  } else if (plain == "False") {
    query.add("scheme", "http");
  }
  // An endpoint of somebody else's has no regions that could be asked for.
  const bool elsewhere = !endpoint.empty() || !environment("AWS_ENDPOINT_URL").empty() || !environment("AWS_ENDPOINT_URL_S3").empty();
  query.add("region", !region.empty()                              ? region
                      : !elsewhere                                 ? ""
                      : !environment("AWS_REGION").empty()         ? environment("AWS_REGION")
                      : !environment("AWS_DEFAULT_REGION").empty() ? environment("AWS_DEFAULT_REGION")
                                                                   : "us-east-1");
  result.uri = std::string("s3://") + (anonymous ? "anonymous@" : "") + rest + query.text();
  return result;
}

StoreAddress gcs_address(const std::string& rest, Taken given) {
  StoreAddress result;
  Query query;
  const std::string token = given.take({"token"});
  const std::string project = given.take({"project"});
  std::string endpoint = given.take({"endpoint_url"});
  given.refuse_others("token='anon', project and endpoint_url are there");
  if (!token.empty() && token != "anon" && token != "google_default" && token != "cloud")
    throw Error("NotImplementedError", "storage_options['token'] of Google Cloud Storage is 'anon', 'google_default' or 'cloud' in Gasell",
                "GOOGLE_APPLICATION_CREDENTIALS=key.json in the environment names a file of credentials", Blame::limitation);
  if (endpoint.empty()) endpoint = environment("STORAGE_EMULATOR_HOST");
  const bool anonymous = token == "anon" || !endpoint.empty();
  if (!endpoint.empty()) {
    const auto [scheme, host] = endpoint_parts(endpoint, "http");
    query.add("scheme", scheme);
    query.add("endpoint_override", host);
  }
  query.add("retry_limit_seconds", kRetrySeconds);
  query.add("project_id", project);
  result.uri = std::string("gs://") + (anonymous ? "anonymous@" : "") + rest + query.text();
  return result;
}

StoreAddress azure_address(const std::string& rest, Taken given) {
  StoreAddress result;
  Query query;
  std::string account = given.take({"account_name"});
  std::string key = given.take({"account_key"});
  const bool anonymous = given.take_truth("anon");
  const std::string tenant = given.take({"tenant_id"}), client = given.take({"client_id"}), secret = given.take({"client_secret"});
  given.refuse_others("account_name, account_key, anon, tenant_id, client_id and client_secret are there");
  if (account.empty()) account = environment("AZURE_STORAGE_ACCOUNT_NAME");
  if (key.empty()) key = environment("AZURE_STORAGE_ACCOUNT_KEY");
  if (anonymous) query.add("credential_kind", "anonymous");
  query.add("tenant_id", tenant);
  query.add("client_id", client);
  query.add("client_secret", secret);
  std::string place = rest;
  if (const size_t slash = rest.find('/'), at = rest.find('@');
      at == rest.npos || at > slash) {  // "container/path" of an account beside it
    if (account.empty())
      throw Error("ValueError", "abfs://container/path needs storage_options={'account_name': …}",
                  "or write the account: abfs://container@account.dfs.core.windows.net/path");
    place = rest.substr(0, slash) + "@" + account + ".dfs.core.windows.net" + (slash == rest.npos ? "" : rest.substr(slash));
  }
  if (!key.empty()) {
    const size_t at = place.find('@');
    place = place.substr(0, at) + ":" + percent_encoded(key, false) + place.substr(at);
  }
  result.uri = "abfs://" + place + query.text();
  return result;
}

}  // namespace

std::string percent_encoded(const std::string& text, bool keep_slashes) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || (c == '/' && keep_slashes);
    if (plain)
      out += c;
    else
      ((out += '%') += kDigits[byte >> 4]) += kDigits[byte & 15];
  }
  return out;
}

StoreAddress store_address(const std::string& address, const StorageOptions& options) {
  const std::string scheme = scheme_of(address);
  const std::string rest = address.substr(scheme.size() + 3);
  const size_t slash = rest.find('/');
  if (rest.empty() || slash == 0)
    throw Error("ValueError", in_quotes(address) + " names no bucket: " + scheme + "://bucket/path is what it should be");
  // The bucket as it stands; blanks, question marks and the like of the path are its own.
  const std::string place = rest.substr(0, slash) + (slash == rest.npos ? "" : percent_encoded(rest.substr(slash), true));
  Taken given(scheme, options);
  if (scheme == "s3" || scheme == "s3a") return s3_address(place, std::move(given));
  if (scheme == "gs" || scheme == "gcs") return gcs_address(place, std::move(given));
  if (scheme == "hdfs") {
    given.refuse_others("the address says all: hdfs://host:port/path");
    return {"hdfs://" + place, {}};
  }
  return azure_address(place, std::move(given));
}

}  // namespace gasell::remote
