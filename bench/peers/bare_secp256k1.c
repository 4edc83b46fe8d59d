// The libsecp256k1 that the service uses, in a loop with nothing around it.
// "STAGE SECONDS" repeats a stage, sign or recover, and prints how often it ran in a second of CPU time.
#include <secp256k1.h>
#include <secp256k1_recovery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIGNATURES 256
#define CALLS_BETWEEN_LOOKS 100

static secp256k1_context *context;
static unsigned char key[32];
static unsigned char digests[SIGNATURES][32];
static unsigned char signatures[SIGNATURES][64];
static int recoveries[SIGNATURES];

static void fail(const char *message) {
  fprintf(stderr, "%s\n", message);
  exit(1);
}

static void sign(int i) {
  secp256k1_ecdsa_recoverable_signature signature;
  if (!secp256k1_ecdsa_sign_recoverable(context, &signature, digests[i], key, NULL, NULL)) fail("not signed");
  secp256k1_ecdsa_recoverable_signature_serialize_compact(context, signatures[i], &recoveries[i], &signature);
}

static void recover(int i) {
  secp256k1_ecdsa_recoverable_signature signature;
  secp256k1_pubkey public_key;
  unsigned char written[65];
  size_t length = sizeof written;
  if (!secp256k1_ecdsa_recoverable_signature_parse_compact(context, &signature, signatures[i], recoveries[i]) ||
      !secp256k1_ecdsa_recover(context, &public_key, &signature, digests[i]))
    fail("not recovered");
  secp256k1_ec_pubkey_serialize(context, written, &length, &public_key, SECP256K1_EC_UNCOMPRESSED);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static double calls_per_cpu_second(void (*run)(int), double seconds) {
  double start = cpu_seconds(), spent = 0;
  long calls = 0;
  while (spent < seconds) {
    for (int i = 0; i < CALLS_BETWEEN_LOOKS; i++) run(calls++ % SIGNATURES);
    spent = cpu_seconds() - start;
  }
  return calls / spent;
}

int main(int count, char **arguments) {
  if (count != 3) fail("usage: STAGE SECONDS, with a stage of sign, recover");
  void (*run)(int) = strcmp(arguments[1], "sign") == 0 ? sign : recover;
  double seconds = atof(arguments[2]);
  context = secp256k1_context_create(SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY);
  memset(key, 1, sizeof key);
  if (!secp256k1_context_randomize(context, key)) fail("not randomized");
  for (int i = 0; i < SIGNATURES; i++) {
    memset(digests[i], 77, 32);
    digests[i][0] = i;
    sign(i);
  }
  calls_per_cpu_second(run, seconds / 4);
  printf("%f\n", calls_per_cpu_second(run, seconds));
}
