defmodule Server.Pages do
  @moduledoc "Pages of HTML. The templates are compiled into this module."

  require EEx

  EEx.function_from_file(
    :def,
    :fortunes,
    Path.join(__DIR__, "pages/fortunes.html.eex"),
    [:fortunes],
    engine: Server.HtmlEngine,
    trim: true
  )
end
