/** Answers a request in a run, if its answer must continue when its client disconnects. */
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import type { ActiveRuns } from './active-runs-and-lease.ts'
import {
  type BackgroundAnswerRequest,
  startBackgroundResponse,
} from './start-background-response.ts'
import { streamResumableResponse } from './stream-resumable-response.ts'

/** Returns null if the request needs no run, because its answer may end when its client disconnects. */
export function answerInRun(
  request: BackgroundAnswerRequest,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<Response> | null {
  const { clientRequest, isResumable } = request
  if (clientRequest.storage.background) return startBackgroundResponse(request, activeRuns, ports)
  if (!isResumable || !clientRequest.stream) return null
  if (clientRequest.storage.store === false) throw createStoreRequiredError()
  return streamResumableResponse(request, activeRuns, ports)
}

function createStoreRequiredError(): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    'A stream can only be resumed if the response is stored. Leave out `store: false`, or the header x-backstory-resumable.',
    { param: 'store' },
  )
}
