import type { Words } from '../words.ts'

export const PT: Words = {
  happened: {
    'payment.succeeded': 'Pagamento concluído',
    'payment.failed': 'Pagamento falhado',
    'payment.expired': 'Pagamento expirado',
    'payment.canceled': 'Pagamento cancelado',
    'payment.under_review': 'Um pagamento precisa de atenção',
    'payment.chargeback': 'O banco recuperou o dinheiro',
    'payment.refunded': 'Pagamento reembolsado',
    'payment_link.completed': 'Ligação de pagamento esgotada',
    'payment_link.stopped': 'Suspendemos uma ligação de pagamento',
    'payment_link.resumed': 'A ligação de pagamento voltou a funcionar',
    'payment_link.claimed': 'Uma ligação de pagamento passou para a conta',
    'webhook_endpoint.changed': 'Endpoint de webhook alterado',
    'webhook_endpoint.disabled': 'Endpoint de webhook desativado',
    'wallet.changed': 'A carteira foi definida',
    'wallet.planned': 'A carteira está prestes a mudar',
    'wallet.kept': 'A mudança da carteira foi interrompida',
    'channel.added': 'Foi adicionado um canal de notificação',
    'channel.removed': 'Foi removido um canal de notificação',
    'channel.broken': 'Um canal de notificação não aceita nada',
    'api_key.created': 'Foi criada uma chave de API',
    'api_key.revoked': 'Foi revogada uma chave de API',
    'sign_in.new': 'Acesso a partir de um novo dispositivo',
    'payout.held': 'Uma transferência para a sua carteira está retida',
  },
  other: 'Aconteceu algo',
  arrives: 'chegam',
  reference: 'Referência',
  newWallet: 'Nova carteira',
  takesEffect: 'Válido a partir de',
  stop: 'Não esperava isto? Pare a mudança com um clique',
  says: 'Motivo',
  repeated: 'Enviado de novo, porque a primeira tentativa ficou sem resposta. Talvez já tenha chegado.',
  test: 'Este canal funciona. Foi apenas um teste.',
  many: '{count, plural, one {# notificação} many {# de notificações} other {# notificações}}',
  more: '{count, plural, one {e mais #} many {e mais #} other {e mais #}}',
  mail: {
    walletSet:
      'A carteira de «{account}» é agora {address}. Os novos pagamentos vão para lá. Os pagamentos existentes mantêm a sua carteira.',
    walletAsked:
      'Alguém pediu para mudar a carteira de «{account}». Até a mudança ter efeito, os pagamentos vão para a carteira de hoje. Os pagamentos existentes mantêm-na.',
    walletAnybody: 'Toda a equipa foi avisada, e qualquer pessoa dela pode parar a mudança.',
    walletKept:
      'A mudança prevista da carteira de «{account}» foi interrompida. Os pagamentos vão para a carteira anterior.',
    linkClaimed:
      'A ligação de pagamento «{title}» passou para «{account}». O dinheiro vai para a carteira {wallet}, e assim continuará.',
    linkNotYours: 'Não é uma carteira sua? Então ponha a ligação em pausa: os compradores leem o seu nome na página.',
    channelAdded: 'A partir de agora, «{name}» ({kind}) recebe avisos dos pagamentos de «{account}».',
    channelRemoved: 'A partir de agora, «{name}» ({kind}) não recebe avisos de «{account}».',
    channelBroken: '«{name}» ({kind}) não aceita nada de «{account}». O que está à espera é guardado durante 30 dias.',
    keyCreated:
      'Foi criada a chave de API «{name}» ({key}) de «{account}». Quem a tiver pode usá-la a partir de agora.',
    keyRevoked:
      'Foi revogada a chave de API «{name}» ({key}) de «{account}». Os programas que a usam são recusados a partir de agora.',
    unexpected: 'Não esperava isto? Veja quem o fez:',
    signIn: 'Alguém iniciou sessão como {email} com um navegador que ainda não conhecíamos. Veio do endereço {ip}.',
    signInNot: 'Não reconhece este acesso? Termine todas as outras sessões e verifique as suas chaves de acesso:',
    payoutHeld:
      'A transferência de um pagamento de «{account}» está retida. O dinheiro está seguro. Só chega quando isto estiver resolvido.',
    heldBlacklisted: 'O emissor de USDC recusa a sua carteira. Indique outra carteira e escreva-nos.',
    heldRefused: 'A transferência foi recusada. Estamos a analisá-la.',
    heldPolicy: 'Uma regra nossa pede que a nossa equipa a analise.',
    heldOperator: 'A nossa equipa está a analisá-la.',
    endpointChanged:
      'O endpoint de webhook {url} de «{account}» foi adicionado, alterado, eliminado ou recebeu um novo segredo.',
    endpointGone: 'Desativámos o endpoint de webhook {url}. Respondeu 410: já não existe.',
    endpointFailing: 'Desativámos o endpoint de webhook {url}. Durante cinco dias não aceitou nenhum evento.',
    endpointThen:
      'Os pagamentos continuam. Os eventos que perder ficam guardados e podem ser enviados quando voltar a estar ativo.',
  },
}
