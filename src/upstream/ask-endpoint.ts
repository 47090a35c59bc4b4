/** Asks another of an upstream's endpoints with those fields of a request that it understands. */
import type { JsonObject } from '../conversation/json.ts'
import { upstreamRequest, type Prepared } from './prepare.ts'
import type { Call } from '../transport/transport.ts'
import { readJson, refusalOf } from '../transport/read-body.ts'
import type { World } from '../world.ts'

export async function askEndpoint(
  path: string,
  fields: readonly string[],
  prepared: Prepared,
  world: World,
  onCall: (call: Call) => void = () => undefined,
): Promise<JsonObject> {
  const { encoded, prompt, provider } = prepared
  const whole = encoded.body instanceof Uint8Array ? prompt.source.body : encoded.body
  const body = Object.fromEntries(
    fields.flatMap((name) => (whole[name] === undefined ? [] : [[name, whole[name]]])),
  )
  const call = world.transport(
    upstreamRequest({ ...prepared, encoded: { ...encoded, path, body } }),
  )
  onCall(call)
  const reply = await call.reply
  if (reply.status < 200 || reply.status >= 300) throw await refusalOf(call, reply, provider)
  return (await readJson(call, reply)).json
}
