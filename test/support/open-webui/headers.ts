/**
 * The identifying headers of Open WebUI, by profile: `bare` sends none, `user` the user, `full` the user and
 * the position in the chat, `jwt` the user in a signed token.
 */
import { createHmac } from 'node:crypto'

export type Profile = 'bare' | 'user' | 'full' | 'jwt'

export const PROFILES: readonly Profile[] = ['bare', 'user', 'full', 'jwt']

export const JWT_SECRET = 'a secret that both sides know'

/** The gateway settings that make it trust each profile. */
export const PROFILE_SETTINGS: Readonly<Record<Profile, Readonly<Record<string, string>>>> = {
  bare: {},
  user: { TRUST_USER_HEADERS: 'on' },
  full: { TRUST_USER_HEADERS: 'on' },
  jwt: { OPEN_WEBUI_JWT_SECRET: JWT_SECRET },
}

/** The position of a request in its chat; fields are empty if there is none. */
export interface ChatPosition {
  readonly chat: string
  readonly message: string
  readonly userMessage: string
  readonly userParent: string
  readonly task: string
}

export const NO_POSITION: ChatPosition = {
  chat: '',
  message: '',
  userMessage: '',
  userParent: '',
  task: '',
}

export interface Sender {
  readonly profile: Profile
  readonly key: string
  readonly user: string
  /** What the headers say of a position, if an administrator left some of them out. */
  readonly tellPosition?: (place: ChatPosition) => Partial<ChatPosition>
}

/** Returns names and values alternately, in the order on the wire. */
export function buildHeaders(
  { profile, key, user, tellPosition = (all) => all }: Sender,
  place: ChatPosition,
): readonly (readonly [string, string])[] {
  const chatId = place.chat === '' ? [] : [['X-OpenWebUI-Chat-Id', place.chat] as const]
  return [
    ['Content-Type', 'application/json'],
    ...(profile === 'bare' ? [] : [...identity(profile, user), ...chatId]),
    ['Authorization', `Bearer ${key}`],
    ...(profile === 'full' ? templates(user, tellPosition(place)) : []),
    ['Accept', '*/*'],
    ['Accept-Encoding', 'gzip, deflate, br'],
    ['User-Agent', 'Python/3.11 aiohttp/3.13.5'],
  ]
}

function identity(profile: Profile, user: string): readonly (readonly [string, string])[] {
  if (profile === 'jwt') return [['X-OpenWebUI-User-Jwt', signUserToken(user)]]
  return [
    ['X-OpenWebUI-User-Name', 'User'],
    ['X-OpenWebUI-User-Id', user],
    ['X-OpenWebUI-User-Email', 'user@example.com'],
    ['X-OpenWebUI-User-Role', 'user'],
  ]
}

/** The custom headers of a connection, which are sent even if their value is empty. */
function templates(
  user: string,
  { chat, message, userMessage, userParent, task }: Partial<ChatPosition>,
): readonly (readonly [string, string])[] {
  const headers = [
    ['X-Backstory-Chat', chat],
    ['X-Backstory-Message', message],
    ['X-Backstory-User-Message', userMessage],
    ['X-Backstory-User-Parent', userParent],
    ['X-Backstory-Task', task],
    ['X-Backstory-User', user],
  ] as const
  return headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

function signUserToken(user: string): string {
  const iat = Math.floor(Date.now() / 1000)
  const person = { sub: user, email: 'user@example.com', name: 'User', role: 'user' }
  const told = { ...person, iss: 'open-webui', iat, exp: iat + 300 }
  const text = [{ alg: 'HS256', typ: 'JWT' }, told]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', JWT_SECRET).update(text).digest('base64url')}`
}
