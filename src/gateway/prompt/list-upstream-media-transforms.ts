/** Lists the transforms that fit media to one upstream: embed, correct, block or hide them. */
import type { Transform } from '../../context/transform-interface.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { correctMediaTypes } from '../../media/transforms/correct-or-hide-mislabeled-media.ts'
import { hideMediaOverLimit } from '../../media/transforms/hide-media-over-size-limit.ts'
import type { LoadedMedia } from '../../media/loading/load-result-types.ts'
import type { UpstreamMediaSupport } from '../../media/resolve-upstream-media-support.ts'
import { blockPrivateUrls } from '../../media/transforms/block-private-urls.ts'
import { embedLoadedMedia } from '../../media/transforms/embed-loaded-media.ts'

export function listUpstreamMediaTransforms(
  support: UpstreamMediaSupport,
  loaded: LoadedMedia | null,
  allowedHosts: Settings['MEDIA_FETCH_ALLOW'],
): readonly Transform[] {
  const { maxImageChars, maxRequestChars } = support
  return [
    ...(loaded === null ? [] : [embedLoadedMedia(loaded, support)]),
    correctMediaTypes(),
    // Private URLs are blocked after `correctMediaTypes`, which turns base64 in place of a URL into a data URL.
    blockPrivateUrls(support, allowedHosts),
    // The size limit is applied last, so that embedded media count as well.
    ...(maxImageChars === null && maxRequestChars === null ? [] : [hideMediaOverLimit(support)]),
  ]
}
