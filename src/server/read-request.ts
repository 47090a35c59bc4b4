/** A request understood: what is asked, in its dialect, and what kind of client asks. */
import { detectClient } from './clients/detect-client.ts'
import { readOptionalHeader } from './clients/read-optional-header.ts'
import { looksLikeOpenWebUiRequest } from './clients/guess-open-webui.ts'
import { defaultToolStrictToFalse } from './clients/default-tool-strict-to-false.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../core/client-request.ts'
import { parseRequestWithOverrides } from '../dialects/context-policy/parse-request-with-overrides.ts'
import { readPolicyOverrides } from '../dialects/context-policy/parse-and-format-overrides.ts'
import type { JsonBody } from './parse-json-body.ts'
import type { Settings } from '../settings/read-settings.ts'

/** What nobody has written yet has no bytes. */
type Written = Pick<JsonBody, 'json'> & Partial<JsonBody>

export function readRequest(
  dialect: Dialect,
  { json: written, bytes }: Written,
  headers: Headers,
  settings: Settings,
): ClientRequest {
  const client = detectClient(headers, written, settings)
  const isLoose =
    dialect.name === 'responses' &&
    (client.isOpenWebUi || looksLikeOpenWebUiRequest(headers, written))
  const body = isLoose ? defaultToolStrictToFalse(written) : written
  const clientRequest = parseRequestWithOverrides(
    dialect,
    body,
    body === written ? bytes : undefined,
  )
  // Who cannot write fields can write a header, and a field says more.
  const policy = readOptionalHeader(headers, POLICY_HEADER)
  if (policy === null) return { ...clientRequest, client }
  return {
    ...clientRequest,
    policyOverrides: {
      ...readPolicyOverrides(policy, POLICY_HEADER),
      ...clientRequest.policyOverrides,
    },
    client,
  }
}

const POLICY_HEADER = 'x-backstory-policy'
