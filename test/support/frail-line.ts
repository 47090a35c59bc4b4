/** A line to a server that may be cut, or fall silent, and be mended. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface FrailLine {
  readonly port: number
  /** Nothing gets through any more, and nobody is told. */
  readonly silence: () => void
  /** Every connection breaks, and new ones are refused. */
  readonly cut: () => Promise<void>
  readonly mend: () => Promise<void>
  readonly close: () => Promise<void>
}

export async function frailLine(to: { readonly port: number }): Promise<FrailLine> {
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
    silence() {
      isSilent = true
      for (const end of ends) end.pause()
    },
    cut: stop,
    async mend() {
      isSilent = false
      for (const end of ends) end.resume()
      if (!listener.listening) await listen(port)
    },
    close: async () => void (listener.listening && (await stop())),
  }
}
