export const logoPath = (name: string): string => `/logos/${name}`

type LogoProps = {
  readonly shop: { readonly name: string; readonly logo: string | null }
  /** The text of a logo that is shown without the name next to it. */
  readonly alt?: string
}

/** The merchant's logo, on white in both color schemes; without one, the first letter of the merchant's name. */
export function Logo({ shop: { name, logo }, alt = '' }: LogoProps) {
  if (logo !== null)
    return (
      <span class="logo own">
        <img src={logoPath(logo)} alt={alt} width={44} height={44} />
      </span>
    )
  return (
    <span class="logo" aria-hidden="true">
      {/[\p{L}\p{N}]/u.exec(name)?.[0]?.toUpperCase() ?? '·'}
    </span>
  )
}
