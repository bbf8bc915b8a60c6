import { Copy } from '../../kit/copy.tsx'

/** An address in groups of four characters, with the first and the last in bold, so that people can compare it. */
export function Address({ address, label }: { address: string; label?: string }) {
  const groups = address.slice(2).match(/.{1,4}/g) ?? []
  return (
    <div class="addr-box">
      <div>
        {label !== undefined && <small>{label}</small>}
        <code class="addr">
          0x<b>{groups[0]}</b> {groups.slice(1, -1).join(' ')} <b>{groups.at(-1)}</b>
        </code>
      </div>
      <Copy value={address} short="" />
    </div>
  )
}
