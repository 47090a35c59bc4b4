/** The services behind the gateways here: those of all end-to-end tests, which also write summaries. */
import { serving, startMediaServer, type MediaServer } from '../support/media-server.ts'
import { fileOf } from '../media/pictures.ts'
import { said } from '../support/scribe.ts'
import { startServices, type Services } from '../support/services/start-services.ts'
import { answerJson } from '../support/upstream.ts'
import type { Environment } from './databases.ts'

export interface UpstreamServices {
  readonly services: Services
  readonly media: MediaServer
  /** Of a gateway in front of them, with all that the stories need. */
  readonly environment: Environment
  readonly close: () => Promise<void>
}

export async function startUpstreams(): Promise<UpstreamServices> {
  const services = await startServices()
  const media = await startMediaServer()
  media.paths.set('/cat.png', serving(fileOf('image/png', 3000)))
  // What was sealed by services that are gone cannot be known to these.
  services.checksSeals = false
  const { behave } = services
  services.behave = (response, received) => {
    const { text, json } = received
    if (text.includes('<conversation>')) return answerJson(200, said(SUMMARY))(response, received)
    const newest = JSON.stringify((json['input'] as readonly unknown[] | undefined)?.at(-1) ?? '')
    const isRefused = newest.includes(REFUSED_QUESTION) && text.includes('"encrypted_content":"')
    return (isRefused ? answerJson(400, REFUSAL) : behave)(response, received)
  }
  return {
    services,
    media,
    environment: {
      ...services.environment,
      BACKSTORY_KEYS: 'ada:key-of-ada,bob:key-of-bob',
      TRUST_USER_HEADERS: 'on',
      RETENTION_DAYS: 'off',
      RUN_LEASE_SECONDS: '2',
      MEDIA_FETCH: 'auto',
      MEDIA_FETCH_ALLOW: '127.0.0.1:*',
    },
    async close() {
      await services.close()
      await media.close()
    },
  }
}

/** Also taken for observations. */
const SUMMARY = '## Facts\n- The harbour is KEY-7.\n\n## Wishes\n- In short, they want to sail.'

/** Asked this, the upstream no longer takes back the reasoning that it has sealed. */
export const REFUSED_QUESTION = 'What did you think?'

const REFUSAL = {
  error: {
    message: 'The encrypted content could not be verified.',
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_encrypted_content',
  },
}
