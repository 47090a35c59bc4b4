/** The settings of loading media, a part of the table of all. */
import type { AllowedHost } from '../media/loading/check-url-safety.ts'
import { choiceReader, wholeNumberReader } from './scalar-readers.ts'

export const MEDIA_SETTINGS = {
  MEDIA_FETCH: {
    default: 'auto' as const,
    read: choiceReader('auto', 'off'),
    sentence:
      'Whether images and files that a client names by address are loaded here (`auto`, or `off`) for upstreams that do not load them. Private addresses are never asked.',
  },
  MEDIA_FETCH_ALLOW: {
    default: [] as readonly AllowedHost[],
    shown: 'none',
    read: allowedHosts,
    sentence:
      'Private hosts that may be asked for media all the same, here or by an upstream, as `files.intranet,10.0.0.7:9000`; `host:*` for any port.',
  },
  MEDIA_FETCH_TIMEOUT_SECONDS: {
    default: 15,
    read: wholeNumberReader(1, 300),
    sentence: 'How long all media of a request may take to load.',
  },
  MEDIA_FETCH_MAX_MB: {
    default: 8,
    read: wholeNumberReader(1, 100),
    sentence: 'The largest medium that is loaded.',
  },
  MEDIA_MEMORY_MB: {
    default: 256,
    read: wholeNumberReader(1, 65_536),
    sentence:
      'How much loaded media the process holds at once. Above it a model is told that one could not be loaded.',
  },
}

function allowedHosts(raw: unknown): readonly AllowedHost[] {
  const list: unknown = typeof raw === 'string' ? raw.split(',') : raw
  if (!Array.isArray(list)) throw new Error('must be a list of hosts.')
  return list.flatMap((entry: unknown) => {
    const text = typeof entry === 'string' ? entry.trim() : null
    if (text === '') return []
    const [, host, port = null] =
      /^(\[[^\]]+\]|[^:/@\s]+)(?::(\d{1,5}|\*))?$/.exec(text ?? '') ?? []
    const hostname = host === undefined ? undefined : URL.parse(`http://${host}/`)?.hostname
    if (hostname === undefined) {
      throw new Error(`must hold hosts as in files.intranet:9000, not ${JSON.stringify(entry)}.`)
    }
    return { host: hostname, port }
  })
}
