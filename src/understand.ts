/** A request understood: what is asked, in its dialect, and what kind of client asks. */
import { clientOf } from './client/client-of.ts'
import { headerSaid } from './client/header-said.ts'
import { asksLikeOpenWebUi } from './client/likely-open-webui.ts'
import { withLooseTools } from './client/loose-tools.ts'
import type { Dialect } from './dialect/dialect-interface.ts'
import type { Inbound } from './dialect/dialect.ts'
import { parseWished } from './dialect/parse-wished.ts'
import { readWishes } from './dialect/wishes.ts'
import type { JsonBody } from './json-body.ts'
import type { Settings } from './settings.ts'

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
