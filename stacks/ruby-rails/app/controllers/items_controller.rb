# frozen_string_literal: true

class ItemsController < ApplicationController
  rescue_from ActiveRecord::RecordInvalid do |invalid|
    render json: invalid.record.errors, status: :unprocessable_entity
  end

  def index
    render json: Item.page(after: number(:after, "0", 0..), limit: number(:limit, "20", 1..100))
  end

  def show
    render json: Item.find(params[:id])
  end

  def create
    item = Item.create!(item_params)
    render json: item, status: :created, location: item
  end

  def update
    item = Item.find(params[:id])
    # A replacement is whole: what it leaves out is not taken from the row.
    item.update!(item_params.with_defaults(name: nil, price: nil))
    render json: item
  end

  # If two requests delete an item at once, one of them finds none.
  def destroy
    head Item.delete_by(id: params[:id]).zero? ? :not_found : :no_content
  end

  private

  # Rails wraps the members of a JSON object that are attributes of an item.
  def item_params
    params.require(:item).permit(:name, :price)
  end

  def number(name, default, range)
    text = params.fetch(name, default).to_s
    return text.to_i if text.match?(/\A[0-9]{1,10}\z/) && range.cover?(text.to_i)

    raise ActionController::BadRequest, "#{name} is a number in #{range}"
  end
end
