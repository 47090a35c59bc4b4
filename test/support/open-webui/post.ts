/**
 * Sends one request over its own socket and reads the response line by line. Stop closes the connection, as
 * Open WebUI does, without reading the rest.
 */
import { request } from 'node:http'

export interface PostResult {
  readonly status: number
  readonly contentType: string
  /** The complete body of a response that is not a stream. */
  readonly text: string
  /** `lost` means that the connection broke before the end of the stream. */
  readonly ending: 'ended' | 'stopped' | 'lost'
}

export interface PostOptions {
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  /** Gets every line as soon as it is complete; returns false to close the connection. */
  readonly onLine: (line: string) => boolean
  /** Resolves when the user presses Stop. */
  readonly stop?: Promise<unknown> | undefined
}

export function post({ url, headers, body, onLine, stop }: PostOptions): Promise<PostResult> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body)
    const told = [...headers, ['Content-Length', String(bytes.length)] as const]
    const sent = request(url, { method: 'POST', headers: Object.fromEntries(told), agent: false })
    let isStopped = false
    const close = (): void => {
      isStopped = true
      sent.destroy()
    }
    void stop?.then(close)
    sent.on('error', (error) => {
      if (isStopped) resolve({ status: 0, contentType: '', text: '', ending: 'stopped' })
      else reject(error)
    })
    sent.on('response', (response) => {
      const lines = lineReader((line) => void (onLine(line) || close()))
      const isStream = (response.headers['content-type'] ?? '').includes('text/event-stream')
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        if (isStopped) return
        if (isStream) lines(chunk)
        else text += chunk
      })
      response.on('error', () => undefined)
      response.on('close', () => {
        const ending = isStopped ? 'stopped' : response.complete ? 'ended' : 'lost'
        const contentType = response.headers['content-type'] ?? ''
        resolve({ status: response.statusCode ?? 0, contentType, text, ending })
      })
    })
    sent.end(bytes)
  })
}

function lineReader(onLine: (line: string) => void): (chunk: string) => void {
  let open = ''
  return (chunk) => {
    const lines = (open + chunk).split('\n')
    open = lines.pop() ?? ''
    for (const line of lines) onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
}
