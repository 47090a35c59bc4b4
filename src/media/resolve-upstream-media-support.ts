/**
 * What an upstream takes of media: which addresses it loads by itself, and how many bytes. What is
 * not known to be refused is sent.
 */
import type { Part } from '../core/item.ts'
import type { Account } from '../providers/provider-interface.ts'
import { PROVIDERS } from '../providers/registry.ts'

export interface UpstreamMediaSupport {
  /** Whether it loads the medium that this part names by an address. */
  readonly loadsUrl: (part: Part, url: string) => boolean
  /** What its addresses may begin with, beside those of the web. */
  readonly schemes: readonly string[]
  /** How much base64 one image may be; `null` if nobody knows of a limit. */
  readonly maxImageChars: number | null
  /** How much base64 a request may hold. */
  readonly maxRequestChars: number | null
}

export function resolveMediaSupport(account: Account): UpstreamMediaSupport {
  const { wire, quirks } = account
  const taken = PROVIDERS[wire].getMediaSupport?.(account) ?? {}
  const {
    loadsUrl = () => true,
    schemes = [],
    maxImageChars = null,
    maxRequestChars = null,
  } = taken
  const loadsAny = (quirks['mediaUrls'] ?? true) === true
  return {
    loadsUrl: (part, url) => loadsAny && loadsUrl(part, url),
    schemes,
    maxImageChars: numberOr(quirks['imageLimitBytes'], maxImageChars),
    maxRequestChars: numberOr(quirks['mediaLimitBytes'], maxRequestChars),
  }
}

function numberOr<Other>(value: unknown, other: Other): number | Other {
  return typeof value === 'number' ? value : other
}
