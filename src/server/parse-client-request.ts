/** Detects the client program of a parsed JSON body, and parses the body in its dialect. */
import { detectClient } from './clients/detect-client.ts'
import { readOptionalHeader } from './clients/read-optional-header.ts'
import { looksLikeOpenWebUiRequest } from './clients/guess-open-webui-without-headers.ts'
import { defaultToolStrictToFalse } from './clients/default-tool-strict-to-false.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../core/client-request.ts'
import { parseRequestAndBackstoryFields } from '../dialects/context-policy/parse-request-and-backstory-fields.ts'
import { readPolicyOverrides } from '../dialects/context-policy/parse-and-format-overrides.ts'
import { rejectLowOutputLimit } from '../dialects/responses/parse/reject-low-output-limit.ts'
import type { JsonBody } from './parse-json-body.ts'
import type { Settings } from '../settings/read-settings.ts'

export function parseClientRequest(
  dialect: Dialect,
  // `bytes` is omitted if `json` is only a part of the client's body.
  { json, bytes }: Pick<JsonBody, 'json'> & Partial<JsonBody>,
  headers: Headers,
  settings: Settings,
): ClientRequest {
  const client = detectClient(headers, json, settings)
  const toolsAreLoose =
    dialect.name === 'responses' && (client.isOpenWebUi || looksLikeOpenWebUiRequest(headers, json))
  const body = toolsAreLoose ? defaultToolStrictToFalse(json) : json
  const originalBytes = body === json ? bytes : undefined
  const clientRequest = parseRequestAndBackstoryFields(dialect, body, originalBytes)
  rejectLowOutputLimit({ ...clientRequest, client })
  // Clients that cannot add the field `backstory` to the body may choose a policy by a header. The
  // field takes precedence over the header.
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
