/** Joins an upstream's body to a client without looking at it. A broken body breaks the answer. */
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
    // Nobody knows what an error would look like in the middle of somebody else's format.
    failed: () => client.abort(),
  })
  client.onDisconnect(call.cancel)
  client.onDrain(flow.resume)
}
