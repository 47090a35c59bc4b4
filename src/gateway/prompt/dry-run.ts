/** What would be sent to the upstream that is asked first, without asking it. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import type { GatewayDependencies } from '../dependencies-interface.ts'
import { loadRequestHistory } from '../history/load-request-history.ts'
import { loadAdditions } from './additions/load-additions.ts'
import { prepareRequest } from './prepare-request.ts'
import type { PreparedRequest } from './planned-request.ts'

export async function prepareDryRun(
  given: ClientRequest,
  caller: Caller,
  ports: GatewayDependencies,
): Promise<PreparedRequest> {
  const [target] = routeModel(ports, given.params.model, given.dialect)
  const remembered = await loadRequestHistory(given, caller, ports)
  const { clientRequest } = remembered
  const asking = { ...remembered, caller, turnId: null, waitUntil: () => undefined }
  const { history, releaseMedia } = await loadAdditions(asking, ports)
  try {
    return prepareRequest(target, { clientRequest, history }, ports)
  } finally {
    releaseMedia()
  }
}
