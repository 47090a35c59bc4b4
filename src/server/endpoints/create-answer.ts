/**
 * `POST /v1/chat/completions` and `POST /v1/responses`: parses the request and hands it to the gateway,
 * or to the background runs if the answer must outlive its client.
 */
import { DEFAULT_CLIENT_TRAITS } from '../../core/client/client-traits.ts'
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import type { BackgroundRuns } from '../../background/background-runs.ts'
import { RESUMABLE_HEADER } from '../../background/stream-resumable-response.ts'
import { EXPLAIN_REQUEST_HEADER } from '../../explain/context-response-header.ts'
import { answerRequest, type RequestHeaderOptions } from '../../gateway/answer-request.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { yieldIfLarge } from '../../gateway/request-memory.ts'
import {
  UNSUPPORTED_HEADER,
  parseUnsupportedHeader,
} from '../../gateway/prompt/filter-capable-targets.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { parseJsonBody } from '../parse-json-body.ts'
import { parseClientRequest } from '../parse-client-request.ts'

/** Answers a request. `runs` is null for a dialect without background answers. */
export async function createAnswer(
  dialect: Dialect,
  { headers, caller, exchange, memory, readBytes }: AuthenticatedRequest,
  runs: BackgroundRuns | null,
  ports: GatewayDependencies,
): Promise<Response> {
  const options = readRequestOptions(headers)
  const { settings } = ports
  const body = await parseJsonBody(await readBytes(), { memory, settings })
  const parsed = parseClientRequest(dialect, body, headers, settings)
  await yieldIfLarge(memory)
  const isResumable = headers.get(RESUMABLE_HEADER) === 'true'
  // An answer that outlives its client is not adapted to this client, because any client may read
  // it later.
  const outlivesClient = isResumable || parsed.storage.background
  const clientRequest = outlivesClient ? { ...parsed, client: DEFAULT_CLIENT_TRAITS } : parsed
  const request = { dialect, clientRequest, caller, exchange, memory, options, isResumable }
  return runs?.answer(request) ?? answerRequest(request, ports)
}

function readRequestOptions(headers: Headers): RequestHeaderOptions {
  const unsupported = parseUnsupportedHeader(headers.get(UNSUPPORTED_HEADER))
  return {
    ...(unsupported === null ? {} : { unsupportedFeatureRule: unsupported }),
    addsContextHeader: headers.get(EXPLAIN_REQUEST_HEADER) === 'true',
  }
}
