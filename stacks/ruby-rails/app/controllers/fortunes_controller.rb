# frozen_string_literal: true

# A page of HTML, which ActionController::API does not render.
class FortunesController < ActionController::Base
  def index
    added = Fortune.new(id: 0, message: "Additional fortune added at request time.")
    @fortunes = [*Fortune.all, added].sort_by(&:message)
  end
end
