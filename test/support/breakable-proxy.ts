/** A TCP proxy to a server, which can break or silently drop its connections and be repaired. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface BreakableProxy {
  readonly port: number
  /** Drops all bytes without closing a connection. */
  readonly stopForwarding: () => void
  /** Closes every connection and rejects new ones. */
  readonly breakConnections: () => Promise<void>
  readonly repair: () => Promise<void>
  readonly close: () => Promise<void>
}

export async function startBreakableProxy(to: { readonly port: number }): Promise<BreakableProxy> {
  const ends = new Set<Socket>()
  let isSilent = false

  const join = (client: Socket): void => {
    const server = connect(to.port, '127.0.0.1')
    for (const [from, other] of [
      [client, server],
      [server, client],
    ] as const) {
      ends.add(from)
      from.on('data', (bytes) => void other.write(bytes))
      from.on('error', () => undefined)
      from.on('close', () => {
        ends.delete(from)
        other.destroy()
      })
      if (isSilent) from.pause()
    }
  }
  const listener = createServer(join)
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      listener.once('error', reject)
      listener.listen(port, '127.0.0.1', resolve)
    })
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      listener.close(() => resolve())
      for (const end of ends) end.destroy()
    })
  await listen(0)
  const { port } = listener.address() as AddressInfo
  return {
    port,
    stopForwarding() {
      isSilent = true
      for (const end of ends) end.pause()
    },
    breakConnections: stop,
    async repair() {
      isSilent = false
      for (const end of ends) end.resume()
      if (!listener.listening) await listen(port)
    },
    close: async () => void (listener.listening && (await stop())),
  }
}
