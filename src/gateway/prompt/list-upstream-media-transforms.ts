/** Lists the transforms that adapt media to one upstream: they embed, correct, block or hide media. */
import type { Transform } from '../../context/transform-interface.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { correctOrHideMislabeledMedia } from '../../media/transforms/correct-or-hide-mislabeled-media.ts'
import { hideMediaOverSizeLimit } from '../../media/transforms/hide-media-over-size-limit.ts'
import type { LoadedMedia } from '../../media/loading/load-result-types.ts'
import type { UpstreamMediaUrlsAndLimits } from '../../media/resolve-upstream-media-urls-and-limits.ts'
import { blockPrivateUrls } from '../../media/transforms/block-private-urls.ts'
import { embedLoadedMediaOrNotice } from '../../media/transforms/embed-loaded-media-or-notice.ts'

export function listUpstreamMediaTransforms(
  support: UpstreamMediaUrlsAndLimits,
  loaded: LoadedMedia | null,
  allowedHosts: Settings['MEDIA_FETCH_ALLOW'],
): readonly Transform[] {
  const { maxImageChars, maxRequestChars } = support
  return [
    ...(loaded === null ? [] : [embedLoadedMediaOrNotice(loaded, support)]),
    correctOrHideMislabeledMedia(),
    // After `correctOrHideMislabeledMedia`, which turns bare base64 into a data URL. Otherwise it would be blocked as a
    // private URL.
    blockPrivateUrls(support, allowedHosts),
    // Last, so that embedded media count toward the size limit too.
    ...(maxImageChars === null && maxRequestChars === null
      ? []
      : [hideMediaOverSizeLimit(support)]),
  ]
}
