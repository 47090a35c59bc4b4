/**
 * Calls another endpoint of an upstream, e.g. `/responses/compact`, with the accepted fields of a prepared
 * request.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { replaceEncodedBody } from '../../providers/request/replace-encoded-body.ts'
import { readJsonBody, readErrorReply } from '../../upstream/transport/read-complete-reply.ts'
import type { UpstreamCall } from '../../upstream/transport/transport-interface.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { buildHttpRequest } from './build-http-request.ts'
import type { Ports } from '../dependencies-interface.ts'

export async function callCompactOrCountEndpoint(
  path: string,
  fields: readonly string[],
  prepared: PreparedRequest,
  ports: Ports<'transport'>,
  onCall: (call: UpstreamCall) => void = () => undefined,
): Promise<JsonObject> {
  const { encoded, account } = prepared
  const body = Object.fromEntries(
    fields.flatMap((name) => {
      const value = encoded.body[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const call = ports.transport(
    buildHttpRequest({ ...prepared, encoded: { ...replaceEncodedBody(encoded, body), path } }),
  )
  onCall(call)
  const reply = await call.reply
  if (reply.status < 200 || reply.status >= 300) {
    throw (await readErrorReply(call, reply, account)).error
  }
  return (await readJsonBody(call, reply)).json
}
