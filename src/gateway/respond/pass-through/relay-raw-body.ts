/**
 * Sends an upstream's body to the client unchanged and undecoded. If the body breaks off, aborts the
 * connection.
 */
import type { ClientStream } from '../../http-exchange-interface.ts'
import type {
  UpstreamCall,
  UpstreamReply,
} from '../../../upstream/transport/transport-interface.ts'

export function relayRawBody(call: UpstreamCall, reply: UpstreamReply, client: ClientStream): void {
  const flow = reply.flow({
    chunk(bytes) {
      if (!client.write(bytes)) flow.pause()
    },
    end: () => client.end(''),
    // No error can be written, because the format of the body is unknown.
    failed: () => client.abort(),
  })
  client.onDisconnect(call.cancel)
  client.onDrain(flow.resume)
}
