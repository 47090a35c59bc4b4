/** Prepares the request for the first target without sending it, for `explain` and token counts. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import type { GatewayDependencies } from '../dependencies-interface.ts'
import { loadRequestHistory } from '../history/load-request-history.ts'
import { loadAdditions } from './additions/load-additions.ts'
import { prepareRequest } from './prepare-request.ts'
import type { PreparedRequest } from './planned-request.ts'

export async function prepareDryRun(
  originalRequest: ClientRequest,
  caller: Caller,
  ports: GatewayDependencies,
): Promise<PreparedRequest> {
  const targets = routeModel(ports, originalRequest.params.model, originalRequest.dialect)
  const loaded = await loadRequestHistory(originalRequest, caller, ports)
  const { clientRequest } = loaded
  const { history, releaseMedia } = await loadAdditions(
    { ...loaded, targets, caller, turnId: null, waitUntil: () => undefined },
    ports,
  )
  try {
    return prepareRequest(targets[0], { clientRequest, history }, ports)
  } finally {
    releaseMedia()
  }
}
