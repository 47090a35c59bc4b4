/** Starts the upstream services of the end-to-end tests, with answers to requests for summaries. */
import { serveBytes, startMediaServer } from '../support/media-server.ts'
import { createFileBytes } from '../media/pictures.ts'
import { chatCompletion } from '../support/summarizing-upstream.ts'
import { startServices, type Services } from '../support/services/start-services.ts'
import { answerJson } from '../support/upstream.ts'
import type { Environment } from './databases.ts'

export interface UpstreamServices {
  readonly services: Services
  /** The address of a picture that gateways load. */
  readonly picture: string
  /** The settings of a gateway with these upstreams, except database and storage keys. */
  readonly environment: Environment
  readonly close: () => Promise<void>
}

export async function startUpstreams(): Promise<UpstreamServices> {
  const services = await startServices()
  const media = await startMediaServer()
  media.paths.set('/cat.png', serveBytes(createFileBytes('image/png', 3000)))
  // These services cannot check encrypted content that earlier instances issued.
  services.checksSeals = false
  const { behave } = services
  services.behave = (response, received) => {
    const { text, json } = received
    if (text.includes('<conversation>'))
      return answerJson(200, chatCompletion(SUMMARY))(response, received)
    const newest = JSON.stringify((json['input'] as readonly unknown[] | undefined)?.at(-1) ?? '')
    const isRefused = newest.includes(REFUSED_QUESTION) && text.includes('"encrypted_content":"')
    return (isRefused ? answerJson(400, REFUSAL) : behave)(response, received)
  }
  return {
    services,
    picture: `${media.url}/cat.png`,
    environment: {
      ...services.environment,
      MODELS: '{"fast":"gpt-5"}',
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

/** The answer to a request for a summary, and for observations. */
const SUMMARY = '## Facts\n- The harbour is KEY-7.\n\n## Wishes\n- In short, they want to sail.'

/** The upstream refuses its own sealed reasoning if this is the newest question. */
export const REFUSED_QUESTION = 'What did you think?'

const REFUSAL = {
  error: {
    message: 'The encrypted content could not be verified.',
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_encrypted_content',
  },
}
