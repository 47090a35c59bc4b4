/** The failures that a client gets if its turn could not be closed. */
import { createFailure } from '../../core/errors/gateway-error.ts'

export const NOT_STORED = createFailure(
  'store_unavailable',
  'The answer could not be kept because the database does not answer, so it must not be relied on. Ask again.',
)

export const REJECTED = createFailure(
  'internal_error',
  'The answer could not be kept because the database rejects it, so it cannot be read or continued later. Asking again does not help; the log of the gateway says why.',
)

/** The failure if another replica has ended the turn, because this replica did not renew its lease in time. */
export const TAKEN_OVER = createFailure(
  'store_unavailable',
  'The answer was given up while the gateway was away from its database, so it must not be relied on. Ask again.',
)
