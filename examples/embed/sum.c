/* A C host: the sum of its own array. */
#include <gasell/gasell.h>
#include <stdio.h>

static int fail(gasell_error* error) {
  gasell_error_info info = {.struct_size = sizeof info};
  if (gasell_error_describe(error, &info) == GASELL_OK) fputs(info.rendered, stderr);
  gasell_error_free(error);
  return 1;
}

int main(void) {
  const float data[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[2] = {2, 3};
  gasell_engine* engine = NULL;
  gasell_session* session = NULL;
  gasell_value* sum = NULL;
  gasell_error* error = NULL;
  double result = 0;
  int status = 0;
  if (gasell_engine_create(NULL, &engine, &error) || gasell_session_create(engine, &session, &error) ||
      gasell_bind_array(session, "table", (void*)data, GASELL_F32, 2, shape, 0, NULL, NULL, &error) ||
      gasell_evaluate(session, "(table * 2).sum(axis=0)[-1]", NULL, &sum, &error) || gasell_value_float(sum, &result, &error)) {
    status = fail(error);
  } else {
    printf("%g\n", result);
  }
  gasell_value_free(sum);
  gasell_session_free(session);
  gasell_engine_free(engine);
  return status;
}
