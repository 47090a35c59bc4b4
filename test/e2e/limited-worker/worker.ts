/** The Worker with a D1 that enforces the documented limits on the size of rows, parameters and statements. */
import worker from '../../../src/main/cloudflare-worker.ts'
import { enforceD1Limits } from '../../store/limited-d1.ts'

type Bindings = Parameters<typeof worker.fetch>[1]
type Context = Parameters<typeof worker.fetch>[2]

/** Returns the same object for the same bindings, because the gateway is created once for each. */
const limited = new WeakMap<object, Bindings>()

function limitBindings(bindings: Bindings): Bindings {
  const known = limited.get(bindings)
  if (known !== undefined) return known
  const result = { ...bindings, DB: enforceD1Limits(bindings.DB) }
  limited.set(bindings, result)
  return result
}

export default {
  fetch(request: Request, bindings: Bindings, context: Context): Promise<Response> {
    return worker.fetch(request, limitBindings(bindings), context)
  },
  scheduled(event: unknown, bindings: Bindings): Promise<void> {
    return worker.scheduled(event, limitBindings(bindings))
  },
}
