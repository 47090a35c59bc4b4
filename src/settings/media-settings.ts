/** Defines the settings for images and files that the gateway loads from the network. */
import type { AllowedHost } from '../media/loading/check-url-safety.ts'
import { defineChoice, defineWholeNumber } from './scalar-readers.ts'

export const MEDIA_SETTINGS = {
  MEDIA_FETCH: defineChoice(
    ['auto', 'off'],
    'Whether the gateway loads images and files that a client names by URL, for upstreams that cannot load them (`auto`, or `off`). Private addresses are never loaded.',
  ),
  MEDIA_FETCH_ALLOW: {
    default: [] as readonly AllowedHost[],
    shownDefault: 'none',
    read: readAllowedHosts,
    description:
      'Private hosts from which the gateway or an upstream may load media after all, e.g. `files.intranet,10.0.0.7:9000`; `host:*` for any port.',
  },
  MEDIA_FETCH_TIMEOUT_SECONDS: defineWholeNumber(
    15,
    [1, 300],
    'How long loading all media of a request may take.',
  ),
  MEDIA_FETCH_MAX_MB: defineWholeNumber(
    8,
    [1, 100],
    'Maximum size of an image or file that is loaded.',
  ),
  MEDIA_MEMORY_MB: {
    ...defineWholeNumber(
      256,
      [1, 65_536],
      'Maximum memory for loaded media in the process. A file above it is not loaded, and the model gets a notice instead.',
    ),
    shownDefault: '`256`; on Workers `24`',
  },
}

/** Reads the allowed hosts from a text, e.g. `files.intranet, 10.0.0.7:9000`, or from a list of such texts. */
function readAllowedHosts(raw: unknown): readonly AllowedHost[] {
  const list: unknown = typeof raw === 'string' ? raw.split(',') : raw
  if (!Array.isArray(list)) throw new Error('must be a list of hosts.')
  return list.flatMap((entry: unknown) => {
    const text = typeof entry === 'string' ? entry.trim() : null
    if (text === '') return []
    const [, host, port = 'default'] =
      /^(\[[^\]]+\]|[^:/@\s]+)(?::(\d{1,5}|\*))?$/.exec(text ?? '') ?? []
    const hostname = host === undefined ? undefined : URL.parse(`http://${host}/`)?.hostname
    if (hostname === undefined) {
      throw new Error(`must hold hosts as in files.intranet:9000, not ${JSON.stringify(entry)}.`)
    }
    if (port === '*') return { host: hostname, port: 'any' }
    return { host: hostname, port: port === 'default' ? port : Number(port) }
  })
}
