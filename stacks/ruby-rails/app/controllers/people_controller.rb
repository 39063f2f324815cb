# frozen_string_literal: true

class PeopleController < ApplicationController
  def index
    render json: [{ name: "John", username: "Doe" }]
  end

  def create
    # The body's alone: params would also take a name from the query.
    name = request.request_parameters[:name]
    raise ActionController::BadRequest, "a name is text" unless name.is_a?(String)

    render plain: "Hello, #{name}!"
  end
end
