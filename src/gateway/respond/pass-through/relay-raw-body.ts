/** Joins an upstream's body to a client without looking at it. A broken body breaks the answer. */
import type { Client } from '../../http-exchange-interface.ts'
import type { Call, Reply } from '../../../upstream/transport/transport-interface.ts'

export function relayRaw(call: Call, reply: Reply, client: Client): void {
  const flow = reply.flow({
    chunk(bytes) {
      if (!client.write(bytes)) flow.pause()
    },
    end: () => client.end(''),
    // Nobody knows what an error would look like in the middle of somebody else's format.
    failed: () => client.breakOff(),
  })
  client.onGone(call.cancel)
  client.onDrain(flow.resume)
}
