/** Asks another of an upstream's endpoints with those fields of a request that it understands. */
import type { JsonObject } from '../../core/json/json.ts'
import { withBody } from '../../providers/request/replace-body.ts'
import type { Prepared } from '../prompt/prepare-request.ts'
import { upstreamRequest } from './build-http-request.ts'
import type { Call } from '../../upstream/transport/transport-interface.ts'
import { readJson, refusalOf } from '../../upstream/transport/read-body.ts'
import type { World } from '../dependencies-interface.ts'

export async function askEndpoint(
  path: string,
  fields: readonly string[],
  prepared: Prepared,
  world: World,
  onCall: (call: Call) => void = () => undefined,
): Promise<JsonObject> {
  const { encoded, provider } = prepared
  const body = Object.fromEntries(
    fields.flatMap((name) => {
      const value = encoded.body[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const call = world.transport(
    upstreamRequest({ ...prepared, encoded: { ...withBody(encoded, body), path } }),
  )
  onCall(call)
  const reply = await call.reply
  if (reply.status < 200 || reply.status >= 300) throw await refusalOf(call, reply, provider)
  return (await readJson(call, reply)).json
}
