/**
 * Finds uploads that are too slow: request bodies and WebSocket messages of which nothing arrives for a
 * while, or which arrive slower than a minimum speed. One timer checks all uploads in progress, so that
 * the arrival of a chunk costs nothing.
 */
import type { IncomingMessage } from 'node:http'

export interface UploadLimits {
  /** Maximum time between two chunks, e.g. 30,000. The minimum speed applies after this time. */
  readonly maxSilenceMs: number
  readonly minBytesPerSecond: number
}

export interface Upload {
  /** Returns the bytes that have arrived so far; null while the gateway does not wait for the client. */
  readonly countBytes: () => number | null
  /** Called once if the upload is too slow. */
  readonly onTooSlow: () => void
}

export interface UploadWatch {
  /** Watches an upload until the returned function is called, or until the upload is too slow. */
  readonly watch: (upload: Upload) => () => void
}

/** Progress of an upload, measured in checks instead of time, because a check that runs late then counts only once. */
interface Progress {
  bytes: number
  checks: number
  silentChecks: number
}

export function createUploadWatch({ maxSilenceMs, minBytesPerSecond }: UploadLimits): UploadWatch {
  const uploads = new Map<Upload, Progress>()
  let timer: ReturnType<typeof setInterval> | null = null
  const checkMs = Math.min(1_000, maxSilenceMs / 10)

  const isTooSlow = (progress: Progress, bytes: number): boolean => {
    progress.silentChecks = bytes === progress.bytes ? progress.silentChecks + 1 : 0
    progress.bytes = bytes
    progress.checks += 1
    if (progress.silentChecks * checkMs >= maxSilenceMs) return true
    const seconds = (progress.checks * checkMs - maxSilenceMs) / 1000
    return seconds > 0 && bytes < seconds * minBytesPerSecond
  }
  const check = (): void => {
    for (const [upload, progress] of uploads) {
      const bytes = upload.countBytes()
      if (bytes === null) Object.assign(progress, createProgress())
      else if (isTooSlow(progress, bytes)) {
        stop(upload)
        upload.onTooSlow()
      }
    }
  }
  const stop = (upload: Upload): void => {
    uploads.delete(upload)
    if (uploads.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
  return {
    watch(upload) {
      uploads.set(upload, createProgress())
      timer ??= setInterval(check, checkMs).unref()
      return () => stop(upload)
    },
  }
}

function createProgress(): Progress {
  return { bytes: -1, checks: 0, silentChecks: 0 }
}

/** Event of an `IncomingMessage` whose body arrives too slowly. Without a listener, its connection is closed. */
export const BODY_TOO_SLOW = 'bodyTooSlow'

export function watchRequestBody(incoming: IncomingMessage, uploads: UploadWatch): void {
  const { headers, socket } = incoming
  if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return
  const before = socket.bytesRead
  const stop = uploads.watch({
    // While the buffer has unread data, the client waits for the gateway.
    countBytes: () => (incoming.readableLength > 0 ? null : socket.bytesRead - before),
    onTooSlow() {
      if (!incoming.emit(BODY_TOO_SLOW)) socket.destroy()
    },
  })
  incoming.once('close', stop)
}
