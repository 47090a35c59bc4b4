/**
 * Resolves which media URLs an upstream loads itself, and how large the media of a request may be.
 * A limit that is not known does not apply.
 */
import type { Part } from '../core/item.ts'
import type { Account } from '../providers/provider-interface.ts'
import { PROVIDERS } from '../providers/provider-registry.ts'

export interface UpstreamMediaUrlsAndLimits {
  /** True if the upstream loads the URL of this part itself. */
  readonly loadsUrl: (part: Part, url: string) => boolean
  /** URL schemes that the upstream accepts besides `http` and `https`, e.g. `gs://`. */
  readonly schemes: readonly string[]
  /** Maximum base64 characters of one image; `null` if there is no known limit. */
  readonly maxImageChars: number | null
  /** Maximum base64 characters of all media in a request; `null` if there is no known limit. */
  readonly maxRequestChars: number | null
}

export function resolveMediaUrlsAndLimits(account: Account): UpstreamMediaUrlsAndLimits {
  const { wire, quirks } = account
  const support = PROVIDERS[wire].getMediaSupport?.(account) ?? {}
  const {
    loadsUrl = () => true,
    schemes = [],
    maxImageChars = null,
    maxRequestChars = null,
  } = support
  const loadsAny = (quirks['mediaUrls'] ?? true) === true
  return {
    loadsUrl: (part, url) => loadsAny && loadsUrl(part, url),
    schemes,
    maxImageChars: getNumberOr(quirks['imageLimitBytes'], maxImageChars),
    maxRequestChars: getNumberOr(quirks['mediaLimitBytes'], maxRequestChars),
  }
}

function getNumberOr<Other>(value: unknown, defaultValue: Other): number | Other {
  return typeof value === 'number' ? value : defaultValue
}
