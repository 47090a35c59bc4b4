/**
 * Finds out why earlier reasoning can no longer be sent: compares the request with the stored one for which that
 * reasoning was still valid. The status line above the answer names the cause.
 */
import { TIMED_OUT, waitWithTimeout } from '../core/async/wait-with-timeout.ts'
import type { Caller } from '../core/client/caller.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'
import type { ExplainHookPorts } from '../gateway/explain-hooks-interface.ts'
import type { PreparedRequest } from '../gateway/prompt/planned-request.ts'
import { buildHttpRequest } from '../gateway/send/build-http-request.ts'
import { decodeBodyText } from '../upstream/transport/decode-body-text.ts'
import { explainPreparedRequest } from './build-explanation.ts'
import { describePrefixChange } from './cache-miss/describe-prefix-change.ts'
import { loadSentRequest } from './load-previous-request.ts'

/**
 * Returns e.g. `the tools changed`. Returns null if no reasoning is newly lost, if the earlier request is not stored,
 * or if loading it fails or takes more than 300 ms.
 */
export async function findLostReasoningCause(
  prepared: PreparedRequest,
  caller: Caller,
  ports: ExplainHookPorts,
): Promise<string | null> {
  const { prefixChange, history } = prepared
  if (prefixChange === null || prefixChange.lostCount === 0) return null
  const { latestOrigin } = prefixChange
  const turn = history.usedTurns.find(({ output }) =>
    output.some(({ origin }) => origin === latestOrigin),
  )
  if (turn === undefined) return null
  try {
    const before = await waitWithTimeout(loadSentRequest(turn.id, caller, ports), MAX_WAIT_MS)
    if (before === TIMED_OUT || before === undefined) return null
    const request = buildHttpRequest(prepared)
    const explanation = explainPreparedRequest(prepared, request, ports.settings)
    return describePrefixChange(before, { ...explanation, body: decodeBodyText(request) })
  } catch (error) {
    ports.log('warn', 'cause-not-found', { turn: turn.id, why: errorMessage(error) })
    return null
  }
}

const MAX_WAIT_MS = 300
