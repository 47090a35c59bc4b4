/**
 * Gives an upstream's error for an unknown model the form of the client's API: status 404 in Chat Completions, and 400
 * with `param: "model"` in the Responses API. Returns any other error unchanged.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { DialectName } from '../../core/prompt.ts'
import { UNKNOWN_MODEL_CODE } from '../../providers/errors/unknown-model.ts'

export function adaptUnknownModelError<Thrown>(
  error: Thrown,
  dialect: DialectName,
): Thrown | GatewayError {
  if (!(error instanceof GatewayError) || error.failure.code !== UNKNOWN_MODEL_CODE) return error
  const { failure, headers } = error
  const form = dialect === 'responses' ? { status: 400, param: 'model' } : { status: 404 }
  const type = 'invalid_request_error'
  return new GatewayError({ ...failure, ...form, type }, failure.message, { headers, cause: error })
}
