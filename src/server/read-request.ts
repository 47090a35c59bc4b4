/** A request understood: what is asked, in its dialect, and what kind of client asks. */
import { clientOf } from './clients/detect-client.ts'
import { headerSaid } from './clients/read-optional-header.ts'
import { asksLikeOpenWebUi } from './clients/guess-open-webui.ts'
import { withLooseTools } from './clients/default-tool-strict-to-false.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { Inbound } from '../core/client-request.ts'
import { parseWished } from '../dialects/context-policy/parse-request-with-overrides.ts'
import { readWishes } from '../dialects/context-policy/parse-and-format-overrides.ts'
import type { JsonBody } from './parse-json-body.ts'
import type { Settings } from '../settings/read-settings.ts'

/** What nobody has written yet has no bytes. */
type Written = Pick<JsonBody, 'json'> & Partial<JsonBody>

export function understand(
  dialect: Dialect,
  { json: written, bytes }: Written,
  headers: Headers,
  settings: Settings,
): Inbound {
  const client = clientOf(headers, written, settings)
  const isLoose =
    dialect.name === 'responses' && (client.isOpenWebUi || asksLikeOpenWebUi(headers, written))
  const body = isLoose ? withLooseTools(written) : written
  const inbound = parseWished(dialect, body, body === written ? bytes : undefined)
  // Who cannot write fields can write a header, and a field says more.
  const policy = headerSaid(headers, POLICY_HEADER)
  if (policy === null) return { ...inbound, client }
  return { ...inbound, wishes: { ...readWishes(policy, POLICY_HEADER), ...inbound.wishes }, client }
}

const POLICY_HEADER = 'x-backstory-policy'
