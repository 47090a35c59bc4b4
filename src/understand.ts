/** A request understood: what is asked, in its dialect, and what kind of client asks. */
import { clientOf } from './client/client-of.ts'
import { headerSaid } from './client/header-said.ts'
import { asksLikeOpenWebUi } from './client/likely-open-webui.ts'
import { withLooseTools } from './client/loose-tools.ts'
import type { JsonObject } from './conversation/json.ts'
import { jsonBytes } from './conversation/well-formed-json.ts'
import type { Dialect, Inbound } from './dialect/dialect.ts'
import { parseWished } from './dialect/parse-wished.ts'
import { readWishes } from './dialect/wishes.ts'
import type { Settings } from './settings.ts'

/** `bytes` is `written` as it came. */
export function understand(
  dialect: Dialect,
  written: JsonObject,
  bytes: Uint8Array,
  headers: Headers,
  settings: Settings,
): Inbound {
  const client = clientOf(headers, written, settings)
  const isLoose =
    dialect.name === 'responses' && (client.isOpenWebUi || asksLikeOpenWebUi(headers, written))
  const body = isLoose ? withLooseTools(written) : written
  const said = body === written ? bytes : jsonBytes(body)
  const inbound = parseWished(dialect, body, said)
  // Who cannot write fields can write a header, and a field says more.
  const policy = headerSaid(headers, POLICY_HEADER)
  if (policy === null) return { ...inbound, client }
  return { ...inbound, wishes: { ...readWishes(policy, POLICY_HEADER), ...inbound.wishes }, client }
}

const POLICY_HEADER = 'x-backstory-policy'
