/**
 * Prepares media in the outputs of gateway tools for the upstream, like media of the client's request.
 * Loads URLs that the upstream cannot load itself, and lists the transforms that fit media to the formats
 * and sizes that the upstream accepts.
 */
import type { Transform } from '../../../context/transform-interface.ts'
import type { FunctionCallOutput } from '../../../core/item.ts'
import { listContentParts } from '../../../core/media/media-handles.ts'
import type { LoadedMedia } from '../../../media/loading/load-result-types.ts'
import { resolveMediaUrlsAndLimits } from '../../../media/resolve-upstream-media-urls-and-limits.ts'
import { routeModel } from '../../../upstream/accounts-and-model-routing.ts'
import { loadRemoteMedia, type MediaLoadOptions } from '../../prompt/additions/load-remote-media.ts'
import { listUpstreamMediaTransforms } from '../../prompt/list-upstream-media-transforms.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import type { Ports } from '../../dependencies-interface.ts'

export interface ToolOutputMedia {
  readonly mediaTransforms: readonly Transform[]
  /** Media that the gateway loaded; null if there was nothing to load. */
  readonly loadedMedia: LoadedMedia | null
  readonly releaseMedia: () => void
}

export async function loadToolOutputMedia(
  outputs: readonly FunctionCallOutput[],
  prepared: PreparedRequest,
  owner: Pick<MediaLoadOptions, 'caller' | 'turnId' | 'waitUntil'>,
  ports: Ports<'accounts' | 'log' | 'media' | 'mediaLoader' | 'nowMs' | 'settings'>,
): Promise<ToolOutputMedia> {
  if (outputs.every((output) => listContentParts(output).length === 0)) return NO_MEDIA
  const { clientRequest, history, prompt, account } = prepared
  const { media: _requestMedia, ...historyWithoutMedia } = history
  const plannedOutputs = { ...prepared, prompt: { ...prompt, items: outputs } }
  const { history: loadedHistory, releaseMedia } = await loadRemoteMedia(
    {
      ...owner,
      clientRequest: { ...clientRequest, items: outputs },
      history: { ...historyWithoutMedia, items: [] },
      targets: routeModel(ports, clientRequest.params.model, clientRequest),
      plan: () => plannedOutputs,
    },
    ports,
  )
  const loadedMedia = loadedHistory.media ?? null
  const mediaTransforms = listUpstreamMediaTransforms(
    resolveMediaUrlsAndLimits(account),
    loadedMedia,
    ports.settings.MEDIA_FETCH_ALLOW,
  )
  return { mediaTransforms, loadedMedia, releaseMedia }
}

const NO_MEDIA: ToolOutputMedia = {
  mediaTransforms: [],
  loadedMedia: null,
  releaseMedia: () => undefined,
}
