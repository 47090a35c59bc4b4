/**
 * `POST /v1/chat/completions` and `POST /v1/responses`: parses the request and hands it to the gateway,
 * or to the background runs if the answer must outlive its client, or if the request has an `Idempotency-Key`.
 */
import { DEFAULT_CLIENT_TRAITS } from '../../core/client/client-traits.ts'
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import type { BackgroundRuns } from '../../background/background-runs.ts'
import { RESUMABLE_HEADER } from '../../background/stream-resumable-response.ts'
import { EXPLAIN_REQUEST_HEADER } from '../../explain/context-response-header.ts'
import {
  hashIdempotencyKey,
  readIdempotencyKey,
} from '../../background/idempotency/idempotency-key.ts'
import { answerRequest, type RequestHeaderOptions } from '../../gateway/answer-request.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { yieldIfLarge } from '../../gateway/request-memory.ts'
import {
  UNSUPPORTED_HEADER,
  parseUnsupportedHeader,
} from '../../gateway/prompt/filter-capable-targets.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { parseJsonBody } from '../parse-json-body.ts'
import { parseClientRequest } from '../parse-client-request.ts'

export async function createAnswer(
  dialect: Dialect,
  { turnId, headers, caller, exchange, memory, readBytes }: AuthenticatedRequest,
  runs: BackgroundRuns,
  ports: GatewayDependencies,
): Promise<Response> {
  const options = readRequestOptions(headers)
  const { settings } = ports
  const body = await parseJsonBody(await readBytes(), { memory, settings })
  const parsed = parseClientRequest(dialect, body, headers, settings)
  await yieldIfLarge(memory)
  const idempotencyKey = readIdempotencyKey(headers)
  // Only responses have event logs, from which a stream can be resumed.
  const isResumable = dialect.name === 'responses' && headers.get(RESUMABLE_HEADER) === 'true'
  // An answer that outlives its client is not adapted to this client, because any client may read it later. But whether
  // the request is a task and whether its chat is temporary still determine what is stored.
  const { isTask, isTemporary } = parsed.client
  const outlivesClient = isResumable || parsed.storage.background || idempotencyKey !== null
  const clientRequest = outlivesClient
    ? { ...parsed, client: { ...DEFAULT_CLIENT_TRAITS, isTask, isTemporary } }
    : parsed
  const identity = { turnId, createdAtMs: ports.nowMs() }
  const answering = { dialect, clientRequest, caller, exchange, memory, options, identity }
  const request = { ...answering, isResumable }
  if (idempotencyKey !== null)
    return runs.answerOnce(request, hashIdempotencyKey(idempotencyKey, request))
  const answer = () => runs.answer(request) ?? answerRequest(request, ports)
  const { previousResponseId } = clientRequest.storage
  if (previousResponseId === null) return answer()
  return answer().catch(async (error: unknown) => {
    // An unfinished response cannot be continued. If it is orphaned, it is ended as failed, and can be continued then.
    const isUnfinished =
      error instanceof GatewayError && error.failure.param === 'previous_response_id'
    const check = { responseId: previousResponseId, caller }
    if (isUnfinished && (await runs.recoverIfOrphaned(check))) return answer()
    throw error
  })
}

function readRequestOptions(headers: Headers): RequestHeaderOptions {
  const unsupported = parseUnsupportedHeader(headers.get(UNSUPPORTED_HEADER))
  return {
    ...(unsupported === null ? {} : { unsupportedFeatureRule: unsupported }),
    addsContextHeader: headers.get(EXPLAIN_REQUEST_HEADER) === 'true',
  }
}
