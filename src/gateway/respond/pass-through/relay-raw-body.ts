/** Sends an upstream's body to the client without reading it. If the body breaks off, so does the answer. */
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
    // The format is unknown, so no error can be written into it.
    failed: () => client.abort(),
  })
  client.onDisconnect(call.cancel)
  client.onDrain(flow.resume)
}
