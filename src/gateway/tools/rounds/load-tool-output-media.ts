/**
 * What is done to media that the house answers with, as it would be done to those of the request: loaded
 * for an upstream that does not load them, and in the form and size that it takes. Nearly always there
 * are none.
 */
import type { Transform } from '../../../context/transform-interface.ts'
import type { FunctionCallOutput } from '../../../core/item.ts'
import { listContentParts } from '../../../core/media/media-handles.ts'
import type { LoadedMedia } from '../../../media/loading/load-result-types.ts'
import { resolveMediaSupport } from '../../../media/resolve-upstream-media-support.ts'
import { routeModel } from '../../../upstream/accounts-and-model-routing.ts'
import { loadRemoteMedia, type MediaLoadOptions } from '../../prompt/additions/load-remote-media.ts'
import { listUpstreamMediaTransforms } from '../../prompt/list-upstream-media-transforms.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import type { Ports } from '../../dependencies-interface.ts'

export interface ToolOutputMedia {
  readonly media: readonly Transform[]
  /** `null` if nothing had to be. */
  readonly loaded: LoadedMedia | null
  readonly letGo: () => void
}

export async function loadToolOutputMedia(
  outputs: readonly FunctionCallOutput[],
  prepared: PreparedRequest,
  asker: Pick<MediaLoadOptions, 'caller' | 'turnId' | 'waitUntil'>,
  ports: Ports<'accounts' | 'log' | 'media' | 'mediaLoader' | 'nowMs' | 'settings'>,
): Promise<ToolOutputMedia> {
  if (outputs.every((output) => listContentParts(output).length === 0)) return NONE
  const { clientRequest, history, prompt, account } = prepared
  const { media: _asked, ...before } = history
  const answered = { ...prepared, prompt: { ...prompt, items: outputs } }
  const asking = {
    ...asker,
    clientRequest: { ...clientRequest, items: outputs },
    history: { ...before, items: [] },
    targets: routeModel(ports, clientRequest.params.model, clientRequest.dialect),
    plan: () => answered,
  }
  const { history: shown, releaseMedia } = await loadRemoteMedia(asking, ports)
  const loaded = shown.media ?? null
  return {
    media: listUpstreamMediaTransforms(
      resolveMediaSupport(account),
      loaded,
      ports.settings.MEDIA_FETCH_ALLOW,
    ),
    loaded,
    letGo: releaseMedia,
  }
}

const NONE: ToolOutputMedia = { media: [], loaded: null, letGo: () => undefined }
