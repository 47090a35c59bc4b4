/**
 * Recognizes an upstream's error for a model that it does not have. Services send it with status 404 and various
 * codes and sentences, e.g. `The model `x` does not exist.` or `model "x" not found, try pulling it first`.
 */
export function isUnknownModelError(status: number | null, message: string): boolean {
  return status === 404 && /\bmodels?\b/i.test(message) && MISSING.test(message)
}

const MISSING =
  /not (?:be )?(?:found|available)|does(?:n't| not) exist|not exist|unknown|no such|^model:/i

export const UNKNOWN_MODEL_CODE = 'model_not_found'
