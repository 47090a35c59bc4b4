/**
 * Media that were loaded once are kept with the owner who had them loaded: the same bytes are sent
 * again with every later turn, though their address may have died since. If the memory does not
 * answer they are loaded anew.
 */
import { errorMessage } from '../../../core/errors/gateway-error.ts'
import type { GatewayDependencies, Ports } from '../../dependencies-interface.ts'
import type { LoadedMediaCache } from '../../../media/loading/media-loader.ts'

/** They are forgotten with the thread that they were loaded for. */
type LoadedFor = Parameters<GatewayDependencies['media']['keepLoaded']>[0]

export function createLoadedMediaCache(
  loadedFor: LoadedFor,
  { media, nowMs, log }: Ports<'media' | 'nowMs' | 'log'>,
  mayKeep: boolean,
  after: (work: Promise<unknown>) => void,
): LoadedMediaCache {
  if (!mayKeep) return { find: () => Promise.resolve(new Map()), save: () => undefined }
  const failed = (error: unknown) => log('warn', 'media-not-kept', { why: errorMessage(error) })
  return {
    async find(urls, hasRoom) {
      try {
        return await media.findLoaded(loadedFor, { urls, hasRoom, nowMs: nowMs() })
      } catch (error) {
        failed(error)
        return new Map()
      }
    },
    save: (url, medium) => after(media.keepLoaded(loadedFor, url, medium, nowMs()).catch(failed)),
  }
}
