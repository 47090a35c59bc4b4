/** Prepares a request without sending it, to explain it or to count its tokens. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import type { GatewayDependencies } from '../dependencies-interface.ts'
import { loadRequestHistory } from '../history/load-request-history.ts'
import { loadPromptAdditions } from './additions/load-prompt-additions.ts'
import { prepareRequest } from './prepare-request.ts'
import type { PreparedRequest } from './planned-request.ts'

export async function prepareDryRun(
  originalRequest: ClientRequest,
  caller: Caller,
  ports: GatewayDependencies,
): Promise<PreparedRequest> {
  const targets = routeModel(ports, originalRequest.params.model, originalRequest)
  const loaded = await loadRequestHistory(originalRequest, caller, ports)
  const { clientRequest } = loaded
  const { history, releaseMedia } = await loadPromptAdditions(
    { ...loaded, targets, caller, turnId: null, waitUntil: () => undefined },
    ports,
  )
  try {
    return prepareRequest(targets[0], { clientRequest, history }, ports)
  } finally {
    releaseMedia()
  }
}
